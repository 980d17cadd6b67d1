import Foundation
import Testing
import ThreadNetwork

/// The declarations as Apple's documentation has them. That this compiles is the test.
struct SignatureTests {
  @Test("Every call has its labels and types, in both forms") func calls() {
    let client = THClient.self
    let _: (THClient) -> (@escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void) -> Void = client
      .retrieveAllCredentials(_:)
    let _: (THClient) -> (@escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void) -> Void = client
      .retrieveAllActiveCredentials(_:)
    let _: (THClient) -> (@escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void) -> Void = client
      .retrieveActiveCredentialsForNearbyNetworks(completion:)
    let _: (THClient) -> (Data, @escaping @Sendable ((any Error)?) -> Void) -> Void = client.deleteCredentials(
      forBorderAgent:completion:)
    let _: (THClient) -> (Data, @escaping @Sendable (THCredentials?, (any Error)?) -> Void) -> Void = client
      .retrieveCredentials(forBorderAgent:completion:)
    let _: (THClient) -> (Data, Data, @escaping @Sendable ((any Error)?) -> Void) -> Void = client.storeCredentials(
      forBorderAgent:activeOperationalDataSet:completion:)
    let _: (THClient) -> (@escaping @Sendable (THCredentials?, (any Error)?) -> Void) -> Void = client
      .retrievePreferredCredentials(_:)
    let _: (THClient) -> (Data, @escaping @Sendable (THCredentials?, (any Error)?) -> Void) -> Void = client
      .retrieveCredentials(forExtendedPANID:completion:)
    let _: (THClient) -> (Data, @escaping @Sendable (Bool) -> Void) -> Void = client.checkPreferredNetwork(
      forActiveOperationalDataset:completion:)
    let _: (THClient) -> (@escaping @Sendable (Bool) -> Void) -> Void = client.isPreferredNetworkAvailable(completion:)
    let _: (THClient) -> (Data, @escaping @Sendable ((any Error)?) -> Void) -> Void = client
      .enableCredentialSharingMode(forExtendedPANID:completion:)

    let _: (THClient) -> () async throws -> Set<THCredentials> = client.allCredentials
    let _: (THClient) -> () async throws -> Set<THCredentials> = client.allActiveCredentials
    let _: (THClient) -> (Data) async throws -> Void = client.deleteCredentials(forBorderAgent:)
    let _: (THClient) -> (Data) async throws -> THCredentials = client.credentials(forBorderAgentID:)
    let _: (THClient) -> (Data, Data) async throws -> Void = client.storeCredentials(
      forBorderAgent:activeOperationalDataSet:)
    let _: (THClient) -> () async throws -> THCredentials = client.preferredCredentials
    let _: (THClient) -> (Data) async throws -> THCredentials = client.credentials(forExtendedPANID:)
    let _: (THClient) -> (Data) async -> Bool = client.isPreferred(forActiveOperationalDataset:)
    let _: (THClient) -> () async -> Bool = client.isPreferredAvailable
    let _: (THClient) -> (Data) async throws -> Void = client.enableCredentialSharingMode(forExtendedPANID:)
    let _: @Sendable (THClient) async throws -> Set<THCredentials> = { try await $0.activeCredentialsForNearbyNetworks }
    let _: NSObject.Type = THClient.self
  }

  @Test("Credentials have their properties, of which the channel alone can be set") func properties() {
    let _: KeyPath<THCredentials, String?> = \.networkName
    let _: [KeyPath<THCredentials, Data?>] = [
      \.extendedPANID, \.borderAgentID, \.activeOperationalDataSet, \.networkKey, \.pskc, \.panID,
    ]
    let _: ReferenceWritableKeyPath<THCredentials, UInt8> = \.channel
    let dates: [KeyPath<THCredentials, Date?>] = [\.creationDate, \.lastModificationDate]
    #expect(!dates.contains { $0 is ReferenceWritableKeyPath<THCredentials, Date?> })
    let _: any (NSObject & NSSecureCoding).Type = THCredentials.self
  }
}
