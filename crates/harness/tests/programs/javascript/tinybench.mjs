import { Bench } from 'tinybench';

const numbers = Array.from({ length: 1000 }, (_, index) => index);
const bench = new Bench({ name: 'sums', time: 100 });
bench
  .add('reduce', () => numbers.reduce((a, b) => a + b, 0))
  .add('a "label"\nü', async () => { await null; })
  .add('broken', () => { throw new TypeError('not today'); });
await bench.run();
console.table(bench.table());

const other = new Bench({ time: 50 });
other.add('map', () => numbers.map((number) => number * 2));
await other.run();
console.log(other.tasks[0].result.latency.mean);
