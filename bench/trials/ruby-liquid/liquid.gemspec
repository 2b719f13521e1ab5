Gem::Specification.new do |s|
  s.name = 'liquid'
  s.version = '5.4.0'
  s.summary = 'A secure, non-evaling end user template engine'
  s.authors = ['Tobias Lütke']
  s.files = Dir['lib/**/*']
end
