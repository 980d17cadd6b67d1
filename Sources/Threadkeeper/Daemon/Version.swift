/// The version of threadkeeper, by the rules of semantic versioning.
package let threadkeeperVersion = "0.1.0"
