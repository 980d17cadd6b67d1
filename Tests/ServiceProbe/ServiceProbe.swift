import Glibc

/// What the tests of ServiceDiscovery start:
///
///     service-probe browse TYPE MAXIMUM CHANGES SECONDS SECONDS [KEY …]
///     service-probe publish
@main enum ServiceProbe {
  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "browse" where arguments.count >= 7: BrowseProbe.run(arguments: Array(arguments.dropFirst(2)))
    case "publish": PublishProbe.run()
    default:
      write("usage: service-probe browse TYPE MAXIMUM CHANGES SECONDS SECONDS [KEY …] | publish")
      exit(2)
    }
  }

  /// Writes a line at once.
  static func write(_ line: String) {
    // Not by `print`: it would have to be flushed, and `fflush` waits for who reads the standard input.
    let bytes = Array((line + "\n").utf8)
    guard Glibc.write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(1) }
  }
}
