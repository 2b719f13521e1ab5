import { bench, group, run } from 'mitata';

const numbers = Array.from({ length: 1000 }, (_, index) => index);
bench('reduce', () => numbers.reduce((a, b) => a + b, 0));
group('arrays', () => {
  bench('fill $n', function* (state) {
    const n = state.get('n');
    yield () => new Array(n).fill(0);
  }).args('n', [10, 100000]);
  bench('broken', () => { throw new TypeError('not today'); });
  bench('reduce', () => numbers.reduce((a, b) => a - b, 0));
});
await run();
