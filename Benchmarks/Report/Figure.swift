/// One number, and what it should be.
struct Figure: Encodable {
  enum Unit: String, Encodable {
    case ratio
    case perSecond = "/s"
    case seconds = "s"
    case milliseconds = "ms"
    case microseconds = "µs"
    case nanoseconds = "ns"
    case megabytes = "MB"
    case kilobytes = "kB"
    case percent = "%"
    case fsyncs
    case megabytesADay = "MB a day"
    case timesASecond = "a second"
    case instructions

    var digits: Int {
      switch self {
      case .perSecond, .nanoseconds, .instructions: 0
      case .ratio, .milliseconds, .percent: 2
      case .seconds, .microseconds, .megabytes, .kilobytes, .fsyncs, .megabytesADay, .timesASecond: 1
      }
    }

    func text(_ value: Double) -> String {
      let number = value.formatted(digits)
      return self == .ratio ? number : "\(number) \(rawValue)"
    }
  }

  enum Goal {
    case atLeast(Double)
    case atMost(Double)
  }

  let name: String
  let value: Double
  let unit: Unit
  let goal: Goal?
  /// The values of the single rounds.
  let samples: [Double]
  let note: String

  init(_ name: String, _ value: Double, unit: Unit, goal: Goal? = nil, samples: [Double] = [], note: String = "") {
    self.name = name
    self.value = value
    self.unit = unit
    self.goal = goal
    self.samples = samples
    self.note = note
  }

  /// Nil where there is no goal.
  var isReached: Bool? {
    switch goal {
    case .atLeast(let limit): value >= limit
    case .atMost(let limit): value <= limit
    case nil: nil
    }
  }

  var goalText: String {
    switch goal {
    case .atLeast(let limit): "≥ \(unit.text(limit))"
    case .atMost(let limit): "≤ \(unit.text(limit))"
    case nil: ""
    }
  }

  enum CodingKeys: String, CodingKey {
    case name, value, unit, samples, note, reached
    case atLeast = "at_least"
    case atMost = "at_most"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(value, forKey: .value)
    try container.encode(unit, forKey: .unit)
    try container.encode(samples, forKey: .samples)
    try container.encode(note, forKey: .note)
    try container.encode(isReached, forKey: .reached)
    switch goal {
    case .atLeast(let limit): try container.encode(limit, forKey: .atLeast)
    case .atMost(let limit): try container.encode(limit, forKey: .atMost)
    case nil: break
    }
  }
}
