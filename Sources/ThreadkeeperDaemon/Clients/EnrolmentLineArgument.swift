// SPDX-License-Identifier: Apache-2.0

import SealedEnvelope

extension PublicIdentity {
  /// An enrolment line of the command line.
  ///
  /// - Parameter whose: for the words.
  package static func argument(_ line: String, whose: String) throws(CommandFailure)
    -> PublicIdentity
  {
    do throws(EnrolmentLineError) {
      return try PublicIdentity(line: line)
    } catch {
      throw CommandFailure(
        .usage, "\(whose): \(error.message)",
        remedy: "the first line that `threadkeeper client keygen` prints is one, "
          + "`threadkeeper clients list` has the daemon's")
    }
  }
}
