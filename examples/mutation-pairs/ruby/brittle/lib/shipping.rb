class Shipping
  def of(weight)
    raise ArgumentError, "nothing to ship" if weight <= 0

    fee(weight > 20)
  end

  private

  def fee(heavy)
    if heavy
      15
    else
      5
    end
  end
end
