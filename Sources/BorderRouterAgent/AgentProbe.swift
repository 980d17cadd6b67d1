import SodiumCrypto

/// What answers where an agent is to look, before anything is set up for it. On the caller's thread.
package enum AgentProbe {
  /// - Parameter users: whose programs may listen there, where that is on this machine.
  /// - Returns: nil for the REST interface of an OpenThread Border Router.
  package static func openThread(at address: HTTPAddress, of users: Set<UInt32>) -> RouterSilence? {
    var reader = RouterReader()
    do throws(HTTPFailure) {
      guard case .silent(let silence) = try OTBRClient(address, of: users).look(&reader) else { return nil }
      return silence
    } catch { return RouterSilence(error) }
  }

  /// - Parameter token: nil: it is not logged in to, and its Thread store is not looked at.
  /// - Returns: nil for a Home Assistant, of which the token is good for what its agent does.
  package static func homeAssistant(at address: HomeAssistantAddress, of users: Set<UInt32>, token: SecretBytes?)
    -> HomeAssistantTrouble?
  {
    let timeout = Duration.seconds(5)
    do throws(HomeAssistantTrouble) {
      guard let token else {
        try HomeAssistantClient.greet(address, of: users, timeout: timeout)
        return nil
      }
      let client = try HomeAssistantClient(address, of: users, token: token, timeout: timeout, signal: nil)
      defer { client.close() }
      _ = try client.datasets()
      return nil
    } catch { return error }
  }
}
