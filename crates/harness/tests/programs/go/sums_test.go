// Package sums has benchmarks whose work is known, to try the driver of `go test` programs on.
package sums

import (
	"fmt"
	"os"
	"testing"
)

var sink int
var kept []int

func sum(n int) int {
	total := 0
	for i := 0; i < n; i++ {
		total += i ^ total
	}
	return total
}

func BenchmarkSum(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += sum(1000)
	}
}

func BenchmarkGrow(b *testing.B) {
	for _, n := range []int{16, 64} {
		b.Run(fmt.Sprintf("n=%d/a+b (c)", n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				kept = make([]int, n)
			}
			b.ReportMetric(float64(n), "elements")
		})
	}
}

// Its name is the beginning of another's.
func BenchmarkSumAll(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += sum(2000)
	}
}

func BenchmarkBroken(b *testing.B) {
	when := os.Getenv("SUMS_BROKEN")
	if when == "panic" {
		// In a goroutine of its own: where the benchmark's panics, Go says that the benchmark has ended before it dies of it, and at times
		// is over with a result first.
		go func() { panic("no luck today") }()
		select {}
	}
	if when == "first" || when == "later" && b.N > 1 {
		b.Fatal("no luck today")
	}
	for i := 0; i < b.N; i++ {
		sink += sum(10)
	}
}

func TestThatIsNotToRun(t *testing.T) {
	t.Fatal("a test was run")
}
