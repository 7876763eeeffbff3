@B1 @B10
Feature: Bash Tool - Security

  @blocked
  Scenario: Block dangerous rm -rf /
    Given an execution context
    When I execute BashTool with command="rm -rf /"
    Then the result should be failed
    And the error should contain "blocked"
    And the error should contain "dangerous"

  @blocked
  Scenario: Block dangerous rm -rf /*
    Given an execution context
    When I execute BashTool with command="rm -rf /*"
    Then the result should be failed
    And the error should contain "blocked"

  @blocked
  Scenario: Block fork bomb
    Given an execution context
    When I execute BashTool with command=":(){ :|:& };:"
    Then the result should be failed
    And the error should contain "blocked"

  @blocked
  Scenario: Block mkfs command
    Given an execution context
    When I execute BashTool with command="mkfs.ext4 /dev/sda1"
    Then the result should be failed
    And the error should contain "blocked"

  Scenario: Allow safe rm command
    Given an execution context with a temp file
    When I execute BashTool with command="rm /tmp/test_file.txt"
    Then the result should NOT be blocked for security

  Scenario: Allow git commands
    Given an execution context with a git repository
    When I execute BashTool with command="git status"
    Then the result should be successful
    And the output should contain git status information

  Scenario: Allow npm commands
    Given an execution context with package.json
    When I execute BashTool with command="npm --version"
    Then the result should be successful
    And the output should contain a version number
