// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// Answers `io.threadkeeper.Store` in the daemon.
struct StoreHandler: LocalAPIHandler {
  let maintenance: MaintenanceService

  var interface: VarlinkInterface { .store }

  var endpoints: [VarlinkEndpoint] {
    [
      StoreMethods.verify.answered { _, caller, replies in
        let outcome = try await maintenance.verify(for: caller) {
          try await replies.send(VerificationStep(progress: $0))
        }
        return VerificationStep(verified: outcome)
      },
      StoreMethods.backup.answered { _, caller, replies in
        try await maintenance.backup(for: caller) { try await replies.send($0) }
      },
    ]
  }
}
