// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// How a command prints its answer; the same for every command.
package struct OutputOptions: ParsableArguments {
  @Flag(name: .long, help: "Print JSON.")
  package var json = false

  package init() {}

  /// Prints the value as JSON where that is asked for, otherwise the text.
  package func show(_ value: some Encodable, text: @autoclosure () -> String)
    throws(CommandFailure)
  {
    try StandardStream.output.write(json ? JSONText.pretty(value) : text())
  }
}
