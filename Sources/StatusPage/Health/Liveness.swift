// SPDX-License-Identifier: Apache-2.0

/// That the daemon answers.
struct Liveness: Encodable {
  var status = "ok"
}
