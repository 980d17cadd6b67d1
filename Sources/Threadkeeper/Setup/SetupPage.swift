import FoundationEssentials
import Glibc
import Settings
import ThreadkeeperSupport

/// Who reaches the status page.
enum PageReach: String, CaseIterable {
  /// Browsers of this machine.
  case yes
  /// Every machine of the network, with the token.
  case home
  case no

  init(_ http: Settings.HTTP) { self = !http.isEnabled ? .no : HostName.isLoopback(http.address) ? .yes : .home }

  /// What a person typed.
  init?(answer: String) {
    let word = answer.lowercased()
    self.init(rawValue: ["y": "yes", "n": "no"][word] ?? word)
  }

  /// - Parameter host: the name of this machine.
  func apply(to http: inout Settings.HTTP, host: String? = PageReach.hostName) {
    let former = PageReach(http)
    http.isEnabled = self != .no
    guard self != former else { return }
    switch self {
    case .no: break
    case .yes: http.address = Settings.HTTP().address
    case .home:
      http.address = "0.0.0.0"
      for name in host.map({ ["\($0).local", $0] }) ?? [] where HostName.isFit(name) && !http.names.contains(name) {
        http.names.append(name)
      }
    }
  }

  /// Without its domain.
  private static var hostName: String? {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
    let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let host = name.lowercased().prefix { $0 != "." }
    return host.isEmpty || host == "localhost" ? nil : String(host)
  }
}

/// The link that opens the page in the network.
struct PageLink: Encodable {
  /// By the name of this machine.
  let link: String
  /// By its address, for what does not know that name.
  let byAddress: String
  /// To type in place of the link; nil where no daemon was there to make one.
  var code: String?

  init(_ http: Settings.HTTP, token: String) {
    link = PageToken.link(http, token: token)
    var unnamed = http
    unnamed.names = []
    byAddress = PageToken.link(unnamed, token: token)
  }

  /// - Parameter draws: makes the code to scan.
  func text(draws: (String) -> String? = PageLink.code) -> String {
    let others = byAddress == link ? "" : "\nor, where that name is not known: \(byAddress)"
    let short = code.map { "open \(link.prefix { $0 != "?" }) and type the code \($0) within 10 minutes" }
    let typed = short ?? "once the daemon runs, `threadkeeper page code` prints a code to type"
    let drawing = draws(link)
    let remark = drawing == nil ? "\n(With the package qrencode, it is also shown as a code to scan.)\n" : ""
    return "Open the page from your network: \(link)\(others)\nWhere that is hard to type, \(typed).\n"
      + (drawing.map { "\n\($0)" } ?? remark)
  }

  /// By Debian's `qrencode`, where it is there. The link is in no list of processes.
  static func code(_ link: String) -> String? {
    var ends: (read: Int32, write: Int32) = (-1, -1)
    let made = withUnsafeMutableBytes(of: &ends) { pipe($0.bindMemory(to: Int32.self).baseAddress) }
    guard made == 0 else { return nil }
    defer { close(ends.read) }
    // It fits into the pipe.
    let bytes = Array(link.utf8)
    let written = write(ends.write, bytes, bytes.count)
    close(ends.write)
    guard written == bytes.count else { return nil }
    let tool = ToolProcess(
      ["qrencode", "-t", "UTF8", "-o", "-"], input: .descriptor(ends.read), mostOutput: 1 << 16, timeout: .seconds(10))
    return (try? tool.output(until: nil)).map { String(decoding: $0, as: UTF8.self) }
  }
}
