// SPDX-License-Identifier: Apache-2.0

/// What all answers of the daemon to commands have in common.
package enum DaemonAnswerForm {
  package static let unreadable = CommandFailure(
    .software, "the running daemon gives an answer that cannot be read",
    remedy: "is it of another version? Start it again")
}
