package runewidth

import (
	"strings"
	"testing"
)

var (
	benchSink   int
	benchLine   = strings.Repeat("Hello, 世界! ∀x∈ℝ ", 20)
	benchString string
)

func benchRunes(b *testing.B, eastAsian bool) {
	c := NewCondition()
	c.EastAsianWidth = eastAsian
	for i := 0; i < b.N; i++ {
		for r := rune(0); r < 0x3000; r++ {
			benchSink += c.RuneWidth(r)
		}
	}
}

func BenchmarkRuneWidth(b *testing.B)          { benchRunes(b, false) }
func BenchmarkRuneWidthEastAsian(b *testing.B) { benchRunes(b, true) }

func BenchmarkRuneWidthLUT(b *testing.B) {
	c := NewCondition()
	c.CreateLUT()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for r := rune(0); r < 0x3000; r++ {
			benchSink += c.RuneWidth(r)
		}
	}
}

func BenchmarkStringWidth(b *testing.B) {
	c := NewCondition()
	for i := 0; i < b.N; i++ {
		benchSink += c.StringWidth(benchLine)
	}
}

func BenchmarkTruncate(b *testing.B) {
	c := NewCondition()
	for i := 0; i < b.N; i++ {
		benchString = c.Truncate(benchLine, 60, "...")
	}
}

func BenchmarkWrap(b *testing.B) {
	c := NewCondition()
	for i := 0; i < b.N; i++ {
		benchString = c.Wrap(benchLine, 40)
	}
}

func BenchmarkFillLeft(b *testing.B) {
	c := NewCondition()
	for i := 0; i < b.N; i++ {
		benchString = c.FillLeft("short", 40)
	}
}
