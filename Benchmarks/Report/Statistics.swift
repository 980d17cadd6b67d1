import Foundation

extension [Double] {
  var median: Double { percentile(50) }

  /// The smallest value that this part of all values does not exceed; 0 of nothing.
  func percentile(_ percent: Double) -> Double {
    guard !isEmpty else { return 0 }
    let rank = Int((percent / 100 * Double(count)).rounded(.up))
    return sorted()[Swift.min(Swift.max(rank, 1), count) - 1]
  }
}

extension Double {
  /// With this many digits after the point.
  func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }

  /// A whole number with a comma between thousands.
  var grouped: String { Int(rounded()).grouped }
}

extension Int {
  /// With a comma between thousands.
  var grouped: String {
    var text = ""
    for (place, digit) in String(magnitude).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}
