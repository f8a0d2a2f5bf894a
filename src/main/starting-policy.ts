/** What `sidestick policy init` writes. */
export const STARTING_POLICY = `# What agents may do by themselves (auto), what a person is asked about (ask), and what is refused (deny).
# The first rule that matches a part of a command decides it; the strictest part decides the whole.
# Your rules come first, the default's after them: \`sidestick policy show --default\`.
# After a change: \`sidestick policy check\`. A running hub reads the file again by itself.

extends: default # or: none

# Where no rule matches, and what is at least said of what can't be known:
# default: ask
# unclear: ask

rules:
  - id: publish
    decision: ask
    reason: Publishing can't be taken back
    risk: high
    command: [npm publish, cargo publish]
    timeout: 10m
    match: [npm publish, cargo publish --dry-run]
    not_match: [npm pack]

  # - id: deploy-tool
  #   decision: auto
  #   reason: It only shows what would be deployed
  #   command: deployer plan
  #   containment: [guard]
`;
