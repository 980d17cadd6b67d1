import Foundation

#if canImport(ThreadNetwork)
import ThreadNetwork
#endif

// Code as an app for home automation on a phone has it, which was not written for Linux.

/// One row of the app's list of credentials.
struct CredentialRow: Equatable {
  let networkName: String
  let networkKey: String
  let extendedPANID: String
  let borderAgentID: String
  let activeOperationalDataSet: String
  let pskc: String
  let channel: UInt8
  let panID: String
  let creationDate: Date?
  let lastModificationDate: Date?
}

protocol CredentialSource {
  func rows() async throws -> [CredentialRow]
  func saveRow(macExtendedAddress: String, operationalDataSet: String, completion: @escaping (Error?) -> Void)
  func deleteRow(macExtendedAddress: String, completion: @escaping (Error?) -> Void)
}

final class PhoneCredentials: CredentialSource {
  /// As the app would just call `THClient()`; a test has a place of its own.
  private let makeClient: () -> THClient
  private(set) var client: THClient?

  init(makeClient: @escaping () -> THClient = { THClient() }) { self.makeClient = makeClient }

  /// The preferred network first, which asks the person, then all the others; a border router that is
  /// in both is taken once.
  func rows() async throws -> [CredentialRow] {
    client = makeClient()
    defer { client = nil }
    guard let client else { return [] }
    let preferred = try await client.preferredCredentials()
    var merged = [preferred.borderAgentID: preferred]
    if let all = try? await client.allCredentials() {
      for credentials in all where merged[credentials.borderAgentID] == nil {
        merged[credentials.borderAgentID] = credentials
      }
    }
    return merged.values.map(Self.row).sorted { $0.borderAgentID < $1.borderAgentID }
  }

  func saveRow(macExtendedAddress: String, operationalDataSet: String, completion: @escaping (Error?) -> Void) {
    client = makeClient()
    nonisolated(unsafe) let done = completion
    nonisolated(unsafe) let app = self
    client?.storeCredentials(
      forBorderAgent: Data(hex: macExtendedAddress), activeOperationalDataSet: Data(hex: operationalDataSet)
    ) { error in
      app.client = nil
      done(error)
    }
  }

  func deleteRow(macExtendedAddress: String, completion: @escaping (Error?) -> Void) {
    client = makeClient()
    nonisolated(unsafe) let done = completion
    nonisolated(unsafe) let app = self
    client?.deleteCredentials(forBorderAgent: Data(hex: macExtendedAddress)) { error in
      app.client = nil
      done(error)
    }
  }

  private static func row(_ credentials: THCredentials) -> CredentialRow {
    CredentialRow(
      networkName: credentials.networkName ?? "Unknown", networkKey: credentials.networkKey?.digits ?? "Unknown",
      extendedPANID: credentials.extendedPANID?.digits ?? "Unknown",
      borderAgentID: credentials.borderAgentID?.digits ?? "Unknown",
      activeOperationalDataSet: credentials.activeOperationalDataSet?.digits ?? "Unknown",
      pskc: credentials.pskc?.digits ?? "Unknown", channel: credentials.channel,
      panID: credentials.panID?.digits ?? "Unknown", creationDate: credentials.creationDate,
      lastModificationDate: credentials.lastModificationDate)
  }
}

/// A screen of the app: on the main actor, with a client in a property.
@MainActor final class CredentialScreen {
  private var client: THClient?
  private(set) var message = ""
  private(set) var names: [String] = []

  func load(_ client: THClient) async {
    self.client = client
    do {
      guard await client.isPreferredAvailable() else {
        message = "No preferred network"
        return
      }
      let credentials = try await client.preferredCredentials()
      names = [credentials.networkName ?? ""]
      message = ""
    } catch {
      let nsError = error as NSError
      message = nsError.code == 15 ? "Not allowed" : nsError.localizedDescription
    }
    self.client = nil
  }
}

extension Data { fileprivate var digits: String { map { String(format: "%02x", $0) }.joined() } }
