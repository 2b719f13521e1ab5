window.BENCHMARK_DATA = {
  "lastUpdate": 1767261600000,
  "repoUrl": "https://example.org/somebody/words",
  "entries": {
    "Benchmark": [
      {
        "commit": {
          "author": {"email": "somebody@example.org", "name": "Somebody", "username": "somebody"},
          "committer": {"email": "somebody@example.org", "name": "Somebody", "username": "somebody"},
          "distinct": true,
          "id": "1111111111111111111111111111111111111111",
          "message": "first",
          "timestamp": "2026-01-01T10:00:00+01:00",
          "tree_id": "3333333333333333333333333333333333333333",
          "url": "https://example.org/somebody/words/commit/1111111111111111111111111111111111111111"
        },
        "date": 1767258000000,
        "tool": "cargo",
        "benches": [
          {"name": "copy", "value": 385, "range": "± 45", "unit": "ns/iter"},
          {"name": "sort", "value": 1720, "range": "± 12", "unit": "ns/iter"}
        ]
      },
      {
        "commit": {
          "author": {"email": "somebody@example.org", "name": "Somebody", "username": "somebody"},
          "committer": {"email": "somebody@example.org", "name": "Somebody", "username": "somebody"},
          "distinct": true,
          "id": "2222222222222222222222222222222222222222",
          "message": "second",
          "timestamp": "2026-01-01T11:00:00+01:00",
          "tree_id": "4444444444444444444444444444444444444444",
          "url": "https://example.org/somebody/words/commit/2222222222222222222222222222222222222222"
        },
        "date": 1767261600000,
        "tool": "cargo",
        "benches": [
          {"name": "copy", "value": 348, "range": "± 20", "unit": "ns/iter"},
          {"name": "sort", "value": 1731, "range": "± 9", "unit": "ns/iter"}
        ]
      }
    ],
    "Sizes": [
      {
        "commit": {
          "id": "1111111111111111111111111111111111111111",
          "message": "first",
          "timestamp": "2026-01-01T10:00:00+01:00"
        },
        "date": 1767250000000,
        "tool": "customBiggerIsBetter",
        "benches": [{"name": "throughput", "value": 12.5, "unit": "MB", "extra": "on one core"}]
      }
    ]
  }
}
