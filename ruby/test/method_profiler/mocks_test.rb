# frozen_string_literal: true

# RSpec's stubs of patched methods: of any instance (which RSpec refuses for methods of prepended modules), of one and of the class.
# The same examples pass with and without patches, and stubbed methods are restored and counted.

require "minitest/autorun"
require "rbconfig"

class MocksTest < Minitest::Test
  EXAMPLES = <<~'RUBY'
    require "rspec/autorun"
    require "assay"

    class Conn
      def exec(sql, tag: nil) = [sql, tag].compact
      def self.open(name) = name
      def self.reach = new.hidden
      protected def kin = :kin
      def hidden = secret
      private def secret = :secret
    end
    class Sub < Conn; end

    STATE = ARGV.shift
    Assay::MethodProfiler.patch(Conn, %i[exec kin hidden secret], :sql, keep: STATE == "kept") unless STATE == "plain"
    Assay::MethodProfiler.patch(Conn, :open, :open, singleton: true, keep: STATE == "kept") unless STATE == "plain"

    RSpec.configure do |config|
      config.mock_with(:rspec) { |mocks| mocks.verify_partial_doubles = true }
      config.order = :random
      config.around { |example| Assay::MethodProfiler.profile { example.run } } if STATE == "active"
      config.after do
        RSpec::Mocks.teardown # Before checking that everything is as before.
        expect([Conn.new.exec("a", tag: 1), Sub.new.exec("b"), Conn.open("n"), Conn.reach]).to eq([["a", 1], ["b"], "n", :secret])
        expect([Conn.private_method_defined?(:secret), Conn.protected_method_defined?(:kin)]).to eq([true, true])
      end
    end

    RSpec.describe Conn do
      it("stubs any instance") { allow_any_instance_of(Conn).to receive(:exec).and_return(:fake); expect(Conn.new.exec("x", tag: 2)).to eq(:fake) }
      it("gives it the arguments") { allow_any_instance_of(Conn).to receive(:exec) { |_, *a, **k| [a, k] }; expect(Conn.new.exec("x", tag: 2)).to eq([["x"], {tag: 2}]) }
      it("expects of any instance") { expect_any_instance_of(Conn).to receive(:exec).with("x", tag: 2).and_call_original; expect(Conn.new.exec("x", tag: 2)).to eq(["x", 2]) }
      it("wraps any instance") { allow_any_instance_of(Conn).to receive(:exec).and_wrap_original { |m, *a, **k| [:w, *m.call(*a, **k)] }; expect(Conn.new.exec("x", tag: 2)).to eq([:w, "x", 2]) }
      it("stubs any instance of a subclass") { allow_any_instance_of(Sub).to receive(:exec).and_return(1); expect([Sub.new.exec("x"), Conn.new.exec("x")]).to eq([1, ["x"]]) }
      it("stubs a private one") { allow_any_instance_of(Conn).to receive(:secret).and_return(3); expect(Conn.new.hidden).to eq(3) }
      it("stubs in a chain") { allow_any_instance_of(Conn).to receive_message_chain(:exec, :first).and_return(4); expect(Conn.new.exec("x").first).to eq(4) }
      it("stubs one instance") { one = Conn.new; allow(one).to receive(:exec).and_return(5); expect([one.exec("x"), Conn.new.exec("x")]).to eq([5, ["x"]]) }
      it("wraps one instance") { one = Conn.new; allow(one).to receive(:exec).and_wrap_original { |m, *a, **k| [:w, *m.call(*a, **k)] }; expect(one.exec("x", tag: 2)).to eq([:w, "x", 2]) }
      it("stubs the class") { allow(Conn).to receive(:open).and_call_original; allow(Conn).to receive(:open).with("o").and_return(6); expect([Conn.open("o"), Conn.open("p")]).to eq([6, "p"]) }
      it("doubles it") { expect { instance_double(Conn, exec: 1).exec(1, 2, 3) }.to raise_error(ArgumentError) }
      it("counts the stub once") do
        allow_any_instance_of(Conn).to receive(:hidden).and_return(7)
        profile = Assay::MethodProfiler.profile { expect(Conn.new.hidden).to eq(7) }
        expect(profile[:sql]&.fetch(:calls)).to eq(STATE == "plain" ? nil : 1)
      end
    end
  RUBY

  %w[plain idle active kept].each do |state|
    define_method(:"test_any_instance_and_others_while_#{state}") do
      skip("needs RSpec (Debian: ruby-rspec)") unless Gem::Specification.find_all_by_name("rspec-mocks").any?

      paths = $LOAD_PATH.first(3).flat_map { |path| ["-I", File.expand_path(path)] }
      said = IO.popen([RbConfig.ruby, *paths, "-", state, err: %i[child out]], "r+") do |child|
        child.write(EXAMPLES)
        child.close_write
        child.read
      end
      assert_match(/12 examples, 0 failures/, said)
    end
  end
end
