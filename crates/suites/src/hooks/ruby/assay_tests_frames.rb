# frozen_string_literal: true

# With ASSAY_TESTS_FRAMES: each test, and each setup of a group, runs beneath a method of its own so
# that it is visible to samplers of stacks. The method's file is called `assay-frame:KIND:NAME`,
# with the name percent-encoded, since samplers report file names unchanged.

module AssayTests
  # All other characters would end a frame or a line in some sample format, or a directory.
  UNSAFE_IN_FRAMES = /[^A-Za-z0-9_.-]/n.freeze

  # Runs a block beneath the frame of a kind and a name, or directly if `kind` is nil.
  FRAMED = <<~'RUBY'
    def framed(kind, name, &block)
      kind ? frame(kind, name).assay_frame(&block) : yield
    end

    def framed_test(key, &block)
      test = @tests[key]
      test ? frame("test", test.name).assay_frame(&block) : yield
    end
  RUBY

  @frames = {}

  class << self
    # All methods have file names in the framework's own directory, which backtraces omit.
    def frames_in(folder)
      @frame_folder = folder
      singleton_class.module_eval(FRAMED, "#{folder}/assay_tests.rb", 1) unless respond_to?(:framed)
    end

    private

    def frame(kind, name)
      (@frames[kind] ||= {})[name] ||= begin
        encoded = name.to_s.b.gsub(UNSAFE_IN_FRAMES) { |byte| format("%%%02X", byte.ord) }.force_encoding(Encoding::UTF_8)
        path = "#{@frame_folder}/assay-frame:#{kind}:#{encoded}"
        Module.new.tap { |made| made.module_eval("def self.assay_frame; yield; end", path, 1) }
      end
    end
  end
end
