/// The processes that the benchmark compares with and loads with.
struct Helper {
  /// When something began and ended, in nanoseconds of the monotonic clock.
  struct Times {
    let begin: Int64
    let end: Int64
    /// Nanoseconds that a subscriber was at work: see `bare_times`.
    var worked: Int64 = 0

    /// A second.
    func rate(of count: Int) -> Double { Double(count) / (Double(end - begin) / 1e9) }
  }

  /// Messages that the broker lets a subscriber have in flight: what the daemon asks for, and the private broker gives.
  static let window = 4_000

  let program: String
  let port: UInt16

  /// Publishes a file of packets and waits for the last acknowledgement.
  ///
  /// - Parameter rate: packets a second; 0: as fast as it goes.
  func publish(_ packets: PublishPackets, from file: String, perSecond rate: Int = 0) throws -> Times {
    try finish(startPublishing(packets, from: file, perSecond: rate))
  }

  /// Publishes meanwhile.
  func startPublishing(_ packets: PublishPackets, from file: String, perSecond rate: Int) throws -> ChildProcess {
    try packets.write(to: file)
    return try ChildProcess(
      program, ["publish", "\(port)", file, "\(packets.count)", "--rate", "\(rate)"], reading: .output)
  }

  /// Starts those who have the page open, and returns when each has its first state.
  func view(port: UInt16, count: Int) throws -> ChildProcess {
    let viewers = try ChildProcess(program, ["viewers", "\(port)", "\(count)"], reading: .output)
    _ = try viewers.line(containing: "ready")
    return viewers
  }

  /// Waits for the end of a helper and reads its times.
  func finish(_ process: ChildProcess) throws -> Times {
    let line = try process.line(containing: "done", within: 600)
    process.wait()
    let numbers = line.text.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count >= 2 else { throw ChildProcess.Failure(description: "\(process.name) said `\(line.text)`") }
    return Times(begin: numbers[0], end: numbers[1], worked: numbers.count > 2 ? numbers[2] : 0)
  }
}
