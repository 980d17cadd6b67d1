import Glibc
import ServiceDiscovery
import ThreadDataset

/// Writes a line for each update, with fields separated by tabs. Reads:
///
/// - `refused`: writes how often something was refused.
/// - `stop`: stops the browser, and writes how many milliseconds that took.
enum BrowseProbe {
  static func run(arguments: [String]) {
    let numbers = arguments[1...4].map { Int($0) ?? 0 }
    let keys = Array(arguments[5...])
    let querySeconds = Duration.seconds(numbers[3])
    let limits = ServiceLimits(
      maximumServices: numbers[0], changesPerMinute: numbers[1], listingInterval: .seconds(numbers[2]),
      queryInterval: querySeconds, silentInterval: querySeconds, queryTimeout: querySeconds)
    let browser = ServiceBrowser(type: arguments[0], limits: limits) { update in ServiceProbe.write(line(update, keys))
    }
    do { try browser.start() } catch {
      ServiceProbe.write("error\t\(error)")
      exit(1)
    }
    while let command = readLine() {
      switch command {
      case "refused": ServiceProbe.write("refused\t\(browser.refused)")
      case "stop":
        let took = ContinuousClock().measure { browser.stop() }
        ServiceProbe.write("stopped\t\(Int(took / .milliseconds(1)))")
      default: ServiceProbe.write("error\t\(command)")
      }
    }
  }

  private static func line(_ update: ServiceUpdate, _ keys: [String]) -> String {
    switch update {
    case .found(let record):
      let values = keys.map { key in
        let value = record.text[key].map { "=" + Hexadecimal.encode($0) }
        return key + (value ?? (record.text.contains(key) ? "" : "-"))
      }
      return (["found", record.name, record.host, "\(record.port)"] + values).joined(separator: "\t")
    case .unusable(let name, let reason): return "unusable\t\(name)\t\(reason)"
    case .lost(let name, _): return "lost\t\(name)"
    case .listed: return "listed"
    case .unavailable(let obstacle): return "unavailable\t\(obstacle.message)\t\(obstacle.remedy)"
    }
  }
}
