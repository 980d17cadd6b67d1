import Broker
import KeychainCore
import Logging
import SodiumCrypto
import Synchronization

/// The daemon's own keys, in memory: clients seal to them, and trust what they sign. One pair of pairs for a store,
/// whatever homes it has. They are made when they are first needed, by `clients`.
package final class DaemonIdentity: Sendable {
  private let store: any DaemonStore
  private let known: Mutex<Identity?>

  /// Reads them. Without them the rest of the daemon works: what is sealed is then refused by name. So damaged ones are
  /// an error in the log.
  package init(_ store: any DaemonStore, logger: Logger) throws {
    self.store = store
    var found: Identity?
    do { found = try store.identitySecrets().map(Self.identity) } catch let error as KeychainError
      where error.isItemDamaged
    { logger.error("what is sealed cannot be opened", metadata: ["reason": "\(error.message)"]) }
    known = Mutex(found)
  }

  /// Nil while nobody has needed any, or when they are damaged.
  package var keys: Identity? { known.withLock { $0 } }

  /// Makes them where there are none.
  ///
  /// - Parameter actor: who is named in the audit.
  /// - Throws: `decode` when they are damaged; what the store throws.
  package func findOrMake(actor: String) throws -> Identity {
    if let keys { return keys }
    let identity = try Self.identity(store.identitySecrets(madeBy: actor))
    // Only now: keys that a rollback has undone must not sign anything.
    known.withLock { $0 = identity }
    return identity
  }

  private static func identity(_ secrets: SecretBytes) throws -> Identity {
    do throws(SodiumError) { return try Identity(secrets: secrets) } catch {
      throw KeychainError(.decode, "the daemon's own keys are damaged; restore a backup")
    }
  }
}
