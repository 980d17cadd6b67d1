// SPDX-License-Identifier: Apache-2.0

/// One line on a terminal that says how far long work is. Elsewhere nothing.
final class ProgressLine {
  private let what: String
  private let isOn = StandardStream.error.isTerminal
  private var shown = -1

  init(_ what: String) { self.what = what }

  func show(_ done: UInt64, of total: UInt64) {
    guard isOn, total > 0 else { return }
    let percent = Int(min(done, total) * 100 / total)
    guard percent != shown else { return }
    shown = percent
    try? StandardStream.error.write("\r\(what) \(percent) %")
  }

  /// Takes the line away.
  func end() {
    guard isOn, shown >= 0 else { return }
    try? StandardStream.error.write("\r\u{1B}[K")
  }
}
