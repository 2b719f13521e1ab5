require 'benchmark/ips'
require 'liquid'

PAGE = <<~PAGE
  <h1>{{ page.title | upcase }}</h1>
  <ul>
  {% for item in page.items %}
    {% if item.price > 20 %}<li>{{ item.name | escape }}: {{ item.price | times: 3 }}</li>{% else %}<li>{{ item.name }}</li>{% endif %}
  {% endfor %}
  </ul>
PAGE
DATA = { 'page' => { 'title' => 'wares', 'items' => Array.new(30) { |n| { 'name' => "<item #{n}>", 'price' => n * 2 } } } }
PARSED = Liquid::Template.parse(PAGE)
CYCLE = Liquid::Template.parse("{% for n in (1..40) %}{% cycle 'odd', 'even' %} {% endfor %}")
FILTERS = Liquid::Template.parse("{{ words | split: ' ' | sort | join: '-' | capitalize }}" * 4)
WORDS = { 'words' => 'the quick brown fox jumps over the lazy dog ' * 5 }
LINE = %(page.items[0].name | replace: 'a', "b" | truncate: 20, '...' )

Benchmark.ips do |x|
  x.report('parse') { Liquid::Template.parse(PAGE) }
  x.report('render') { PARSED.render(DATA) }
  x.report('cycle') { CYCLE.render }
  x.report('filters') { FILTERS.render(WORDS) }
  x.report('lexer') { Liquid::Lexer.new(LINE).tokenize }
  x.report('tokenizer') { Liquid::Tokenizer.new(PAGE).shift }
end
