ORDER = { lines: [], years: 0, total: 0, log: [] }
