// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Broker
@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What a client is told of its broker")
struct BrokerOptionsWordsTests {
  private let plain = MosquittoConfiguration(host: "broker.local", port: 1883, clientID: "phone")

  private var encrypted: MosquittoConfiguration {
    var configuration = plain
    configuration.tls = .init(caFile: "/etc/ca.pem")
    return configuration
  }

  @Test("It names the options of the command, and no setting of a daemon")
  func options() {
    let errors =
      [plain, encrypted].flatMap {
        [
          MosquittoError(result: 14, errno: 111, answered: false, log: [], $0),
          MosquittoError(result: 14, errno: 110, answered: false, log: [], $0),
          MosquittoError(result: 14, errno: 113, answered: false, log: [], $0),
          MosquittoError(result: 2, errno: 0, answered: true, log: [], $0),
          .noAnswer($0), .closedBeforeAnswer($0.host, $0), .init(connack: 0x86, $0),
          .init(connack: 0x84, $0), .init(connack: 0x99, $0), .init(connack: 0x9D, $0),
        ]
      }
      + ["certificate required", "certificate verify failed", "host name verification failed"]
      .map { MosquittoError(tlsLog: [$0], encrypted) }
    for error in errors {
      let words = BrokerOptions.words(error)
      #expect(!words.contains("mqtt."), "\(words)")
      #expect(!words.contains("threadkeeper login"), "\(words)")
    }
    #expect(
      BrokerOptions.words(.init(connack: 0x86, plain)).contains(
        "`--username` and `--password-file`"))
  }
}
