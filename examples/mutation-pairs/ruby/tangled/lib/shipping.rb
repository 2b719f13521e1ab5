require_relative "state"

class Shipping
  def self.add
    ORDER[:log] << "shipping"
    weight = ORDER[:lines].sum { |count, _| count }
    raise ArgumentError, "nothing to ship" if weight <= 0

    if weight > 20
      ORDER[:total] += 15
    else
      ORDER[:total] += 5
    end
  end
end
