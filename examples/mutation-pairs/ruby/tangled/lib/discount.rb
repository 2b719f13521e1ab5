require_relative "state"

class Discount
  def self.apply
    ORDER[:log] << "discount"
    rate =
      if ORDER[:years] >= 2 && ORDER[:total] > 100
        10
      else
        0
      end
    ORDER[:total] -= ORDER[:total] * rate / 100
  end
end
