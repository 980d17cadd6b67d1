// SPDX-License-Identifier: Apache-2.0

import Settings
import StatusPage

extension DaemonState {
  /// Whether a browser can open the status page.
  package struct Page: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
      case off, starting, listening, unavailable
    }

    package var state: State
    /// Where a browser opens it, without the token; nil unless it is `listening`, and where only the trusted proxy
    /// opens it.
    package var url: String?
    /// Whether it is shown with the token only, or through the trusted proxy.
    package var needsToken: Bool?
    /// IP address of the trusted proxy that shows it; nil unless it is `listening`.
    package var trustedProxy: String?
    package var problem: String?
    package var remedy: String?

    init(_ state: State) { self.state = state }

    /// - Parameter server: nil where there is none, see `PageServer.init`.
    init(_ http: Settings.HTTP, besideStore store: String, _ server: PageServer?) {
      guard http.isEnabled else {
        self.init(.off)
        return
      }
      switch server?.condition.current {
      case .starting: self.init(.starting)
      case .listening(let port):
        self.init(.listening)
        var http = http
        http.port = UInt16(clamping: port)
        if http.token != nil || http.trustedProxy == nil { url = PageToken.address(http) }
        needsToken = http.token != nil || http.trustedProxy != nil
        trustedProxy = http.trustedProxy
      case .unavailable(let problem, let remedy):
        self.init(.unavailable)
        (self.problem, self.remedy) = (problem, remedy)
      case nil:
        self.init(.unavailable)
        problem = "the token cannot be read"
        remedy = "Let the daemon's user read \(http.tokenFile(besideStore: store)), and restart."
      }
    }
  }
}
