// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperCLI

@main
enum Threadkeeper {
  static func main() async {
    await ThreadkeeperCommand.runAndExit()
  }
}
