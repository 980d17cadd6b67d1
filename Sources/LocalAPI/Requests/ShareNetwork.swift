/// Has an OpenThread Border Router give others the credentials of its network by a code, for some minutes. The code is
/// for the owner's eyes: whoever has it gets the network's key. An operation of `io.threadkeeper.Admin`, which programs
/// call as well.
package struct ShareNetwork: Codable, Sendable {
  package var home: String?
  /// 16 hexadecimal digits; absent for the preferred network.
  package var extPanId: String?
  /// 1 to 10; absent for two.
  package var minutes: Int?
  /// Of the router's REST interface; absent for `sharing.url` of the settings.
  package var url: String?

  package init(home: String? = nil, extPanId: String? = nil, minutes: Int? = nil, url: String? = nil) {
    (self.home, self.extPanId, self.minutes, self.url) = (home, extPanId, minutes, url)
  }

  /// Also what `networks share --json` prints.
  package struct Reply: Codable, Sendable {
    /// Absent where the router does not report it.
    package var borderAgentId: String?
    package var extPanId: String?
    package var networkName: String?
    package var minutes: Int
    /// 9 digits.
    package var code: String

    package init(borderAgentId: String?, extPanId: String?, networkName: String?, minutes: Int, code: String) {
      (self.borderAgentId, self.extPanId, self.networkName) = (borderAgentId, extPanId, networkName)
      (self.minutes, self.code) = (minutes, code)
    }
  }
}
