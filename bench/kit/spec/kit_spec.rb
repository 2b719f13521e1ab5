# frozen_string_literal: true

require_relative "../lib/kit"

RSpec.describe Kit::Calculator do
  {"1 + 2 * 3" => 7, "(1 + 2) * 3" => 9, "2 ^ 3 ^ 2" => 512, "7 - 2 - 1" => 4, "-2 * 3" => -6, "6 / 3" => 2, "7 / 2" => 3.5, "1.5 + 1" => 2.5, "8 / 2 / 2" => 2}.each do |text, value|
    it("works out #{text}") { expect(described_class.value(text)).to eq(value) }
  end
  {"1 +" => /number is missing/, "(1" => /bracket is open/, "1 2" => /more after/, "1 $ 2" => /what is \$/, "1 / 0" => /divided by nothing/}.each do |text, message|
    it("refuses #{text}") { expect { described_class.value(text) }.to raise_error(Kit::Calculator::Wrong, message) }
  end
end

RSpec.describe Kit::Heap do
  let(:numbers) { [5, 3, 8, 1, 9, 2, 7] }
  subject(:heap) { described_class.new(numbers) }

  it("gives the smallest first") { expect(Array.new(8) { heap.pop }).to eq([*numbers.sort, nil]) }
  it("shows the smallest") { expect(heap.peek).to eq(1) }
  it("counts") { expect(heap.size).to eq(7) }
  it("is empty at first") { expect(described_class.new).to be_empty }
  it("is not empty") { expect(heap).not_to be_empty }
  it("goes through all and keeps them") { expect([heap.to_a, heap.size]).to eq([numbers.sort, 7]) }
  it("knows how many there will be") { expect(heap.each.size).to eq(7) }
  it("takes several") { expect((heap << 0 << 4).peek).to eq(0) }
  it("keeps equal ones") { expect(described_class.new([2, 1, 2, 1]).to_a).to eq([1, 1, 2, 2]) }
end

RSpec.describe Kit::Interval do
  def interval(from, to)
    described_class.new(from, to)
  end

  it("knows its length") { expect([interval(1, 4).length, interval(4, 1).length]).to eq([3, 0]) }
  it("covers its begin and not its end") { expect([1, 3, 4, 0].map { |number| interval(1, 4).cover?(number) }).to eq([true, true, false, false]) }
  it("overlaps") { expect([interval(1, 4).overlap?(interval(3, 5)), interval(1, 4).overlap?(interval(4, 5)), interval(4, 5).overlap?(interval(1, 4))]).to eq([true, false, false]) }
  it("cuts") { expect(interval(1, 4) & interval(2, 9)).to eq(interval(2, 4)) }
  it("takes away") { expect(interval(1, 9) - interval(3, 4)).to eq([interval(1, 3), interval(4, 9)]) }
  it("takes nothing away") { expect(interval(1, 3) - interval(3, 4)).to eq([interval(1, 3)]) }
  it("takes all away") { expect(interval(1, 3) - interval(0, 4)).to eq([]) }
  it("merges") { expect(described_class.merged([interval(5, 6), interval(1, 3), interval(2, 4), interval(6, 7), interval(9, 9)])).to eq([interval(1, 4), interval(5, 7)]) }
  it("keeps the longer one") { expect(described_class.merged([interval(1, 9), interval(2, 3)])).to eq([interval(1, 9)]) }
  it("is written") { expect(interval(1, 2).to_s).to eq("[1, 2)") }
end

RSpec.describe Kit::Lines do
  it("wraps") { expect(described_class.wrap("one two three four", 9)).to eq(["one two", "three", "four"]) }
  it("fills a line to its end") { expect(described_class.wrap("one two", 7)).to eq(["one two"]) }
  it("leaves long words") { expect(described_class.wrap("extraordinary it is", 5)).to eq(["extraordinary", "it is"]) }
  it("centers") { expect(described_class.center("ab", 6)).to eq("  ab") }
  it("does not center what is too long") { expect(described_class.center("abcd", 2)).to eq("abcd") }
  it("indents") { expect(described_class.indent("a\n\nb\n", 2)).to eq("  a\n\n  b\n") }
  it("leaves the first line") { expect(described_class.indent("a\nb", 2, first: false)).to eq("a\n  b") }
  it("outdents") { expect(described_class.outdent("    a\n\n      b\n")).to eq("a\n\n  b\n") }
  it("shortens") { expect([described_class.shorten("abcdef", 4), described_class.shorten("abc", 3), described_class.shorten("abc", 1)]).to eq(["abc…", "abc", "…"]) }
end

RSpec.describe Kit::Recent do
  subject(:recent) { described_class.new(2) }

  it "forgets what was not used" do
    recent[:a] = 1
    recent[:b] = 2
    recent[:a]
    recent[:c] = 3
    expect(recent.keys).to eq(%i[c a])
    expect(recent.size).to eq(2)
  end

  it "counts" do
    recent[:a] = 1
    expect([recent[:a], recent[:b], recent.hits, recent.misses, recent.share]).to eq([1, nil, 1, 1, 0.5])
  end

  it "fetches once" do
    expect([recent.fetch(:a) { |key| "#{key}!" }, recent.fetch(:a) { raise }]).to eq(["a!", "a!"])
    expect([recent.hits, recent.misses]).to eq([1, 1])
  end

  it("has no share at first") { expect(recent.share).to eq(0.0) }
  it("needs room") { expect { described_class.new(0) }.to raise_error(ArgumentError) }

  it "is cleared" do
    recent[:a] = 1
    recent[:a]
    expect([recent.clear.size, recent.hits]).to eq([0, 0])
  end
end

RSpec.describe Kit::Table do
  subject(:table) { described_class.parse("name,count\nplums,12\n\"figs, dried\",7.5\nnuts\n\n") }

  it("has a head") { expect(table.head).to eq(%w[name count]) }
  it("has rows") { expect(table.rows).to eq([["plums", "12"], ["figs, dried", "7.5"], ["nuts", nil]]) }
  it("gives a column") { expect(table.column("name")).to eq(["plums", "figs, dried", "nuts"]) }
  it("knows no other column") { expect { table.column("x") }.to raise_error(KeyError) }
  it("chooses by value") { expect(table.where("name", "nuts").rows).to eq([["nuts", nil]]) }
  it("chooses by a block") { expect(table.where("count") { |cell| cell.to_i > 10 }.rows).to eq([%w[plums 12]]) }
  it("adds up") { expect(table.sum("count")).to eq(19.5) }
  it("is as wide as its cells") { expect(table.widths).to eq([11, 5]) }
  it("is written in columns") { expect(table.to_s).to eq("name         count\nplums           12\nfigs, dried    7.5\nnuts") }
  it("refuses an open quote") { expect { described_class.parse("a,\"b") }.to raise_error(ArgumentError) }
  it("takes other separators") { expect(described_class.parse("a;b\n1;2;3", separator: ";").rows).to eq([%w[1 2]]) }
  it("may be empty") { expect(described_class.parse("").rows).to eq([]) }
end

RSpec.describe Kit::Words do
  {1994 => "MCMXCIV", 3999 => "MMMCMXCIX", 8 => "VIII"}.each do |number, text|
    it("writes #{number}") { expect(described_class.roman(number)).to eq(text) }
  end
  it("refuses nothing and too much") { [0, 4000].each { |number| expect { described_class.roman(number) }.to raise_error(ArgumentError) } }
  it("counts up") { expect([1, 2, 3, 4, 11, 12, 13, 21, 112].map { |number| described_class.ordinal(number) }).to eq(%w[1st 2nd 3rd 4th 11th 12th 13th 21st 112th]) }
  it("tells sizes") { expect([5, 1024, 1_572_864, 5 * 1024**4].map { |bytes| described_class.size(bytes) }).to eq(["5 B", "1.0 KiB", "1.5 MiB", "5120.0 GiB"]) }
  it("lists") { expect([%w[a], %w[a b], %w[a b c]].map { |words| described_class.list(words) }).to eq(["a", "a and b", "a, b, and c"]) }
  it("lists what may be chosen") { expect(described_class.list(%w[a b], "or")).to eq("a or b") }
  it("measures how far words are from each other") { expect([%w[kitten sitting], ["", "abc"], %w[same same]].map { |one, other| described_class.distance(one, other) }).to eq([3, 3, 0]) }
  it("joins and divides names") { expect([described_class.camel("one_two_three"), described_class.snake("oneTwoThree")]).to eq(%w[oneTwoThree one_two_three]) }
  it("tells durations") { expect([5, 65, 3665].map { |seconds| described_class.duration(seconds) }).to eq(["5 s", "1 min 5 s", "1 h 1 min"]) }
end
