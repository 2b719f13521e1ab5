# Finds changed texts that Ruby's compiler translates to the same code: no program can distinguish
# them, except by line numbers.
#
# ruby assay_same.rb FILE, where FILE contains [[original, changed], ...]; prints [true, false,
# ...]. The texts are not executed. Has no dependencies.

require "json"

# Returns the parts of an instruction sequence in array form, without those for its location (lines,
# events, node ids).
def told(own)
  return own unless own.is_a?(Array)
  return own.map { |part| told(part) } unless own[0] == "YARVInstructionSequence/SimpleDataFormat"

  size = own[4].slice(:arg_size, :local_size, :stack_max)
  body = own[13].reject { |part| part.is_a?(Integer) || (part.is_a?(Symbol) && part.start_with?("RUBY_EVENT")) }
  [size, own[5], own[9], own[10], own[11], told(own[12]), told(body)]
end

pairs = JSON.parse(File.read(ARGV.fetch(0)))
$VERBOSE = nil
same = pairs.map do |texts|
  first, second = texts.map { |text| told(RubyVM::InstructionSequence.compile(text, "text", "text").to_a) }
  first == second
rescue SyntaxError, EncodingError
  false
end
puts JSON.generate(same)
