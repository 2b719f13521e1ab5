class Shipping
  def of(weight)
    raise ArgumentError, "nothing to ship" if weight <= 0

    if weight > 20
      15
    else
      5
    end
  end
end
