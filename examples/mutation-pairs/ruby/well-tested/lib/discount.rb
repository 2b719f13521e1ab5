class Discount
  def of(total, years)
    rate =
      if years >= 2 && total > 100
        10
      else
        0
      end
    total * rate / 100
  end
end
