// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperCommands

@main
enum Threadkeeper {
  static func main() async {
    await ThreadkeeperCommand.runAndExit()
  }
}
