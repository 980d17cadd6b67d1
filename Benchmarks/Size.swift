/// How much is measured.
struct Size: Encodable {
  var rounds: Int
  var messages: Int
  /// One after the other, for the latency.
  var events: Int
  /// Items of the stores that are compared.
  var items: [Int]
  var rotatedItems: Int
  /// How often the daemon is killed, and how often it is stopped.
  var kills: Int
  var starts: Int
  /// Seconds of a home in which nothing happens.
  var rest: Int
  /// Messages whose instructions are counted.
  var counted: Int

  static let full = Size(
    rounds: 3, messages: 20_000, events: 1_000, items: [1_000, 10_000, 100_000], rotatedItems: 100_000, kills: 10,
    starts: 15, rest: 120, counted: 1_000)
  static let quick = Size(
    rounds: 1, messages: 5_000, events: 200, items: [1_000, 10_000], rotatedItems: 10_000, kills: 3, starts: 5,
    rest: 30, counted: 200)
}
