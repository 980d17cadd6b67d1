// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// The broker refuses a login: another password may be right. Nothing else that goes wrong is a reason to ask for one
/// again, whatever its exit status.
struct LoginRefusal: Error {
  let failure: CommandFailure
}
