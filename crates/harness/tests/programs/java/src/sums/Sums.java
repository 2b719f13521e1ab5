package sums;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** Benchmarks with names that begin alike, with parameters, of several modes and threads, and one that fails. */
public class Sums {
    @State(Scope.Benchmark)
    public static class Sizes {
        @Param({"10", "1000"})
        public int size;

        @Param({"int", "a b"})
        public String kind;
    }

    private static int sum(int size) {
        int sum = 0;
        for (int i = 0; i < size; i++) {
            sum += i ^ sum;
        }
        return sum;
    }

    @Benchmark
    public int total(Sizes sizes) {
        return sum(sizes.size);
    }

    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    public int fixed() {
        return sum(100);
    }

    @Benchmark
    @BenchmarkMode({Mode.AverageTime, Mode.Throughput, Mode.SingleShotTime})
    public int fixedInThreeModes() {
        return sum(100);
    }

    @Benchmark
    @Threads(2)
    public int fixedInTwoThreads() {
        return sum(100);
    }

    @Benchmark
    public int broken() {
        throw new IllegalStateException("not today");
    }
}
