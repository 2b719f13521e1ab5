class Discount
  def of(total, years)
    total * rate(total, years) / 100
  end

  private

  def rate(total, years)
    if years >= 2 && total > 100
      10
    else
      0
    end
  end
end
