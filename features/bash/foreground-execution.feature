@B1 @B2 @B3 @B5 @B6 @B9
Feature: Bash Tool - Foreground Execution

  Scenario: Execute simple command
    Given an execution context with working_dir="/home/user/project"
    When I execute BashTool with command="echo hello"
    Then the result should be successful
    And the output should contain "hello"
    And metadata should contain exit_code=0

  Scenario: Execute command with output
    Given a directory with files
    When I execute BashTool with command="ls -la"
    Then the result should be successful
    And the output should list the files
    And metadata should contain exit_code=0

  Scenario: Execute command that fails
    Given an execution context
    When I execute BashTool with command="exit 1"
    Then the result should be failed
    And metadata should contain exit_code=1
    And the error should indicate the command failed

  Scenario: Execute command with stderr
    Given an execution context
    When I execute BashTool with command="echo error >&2"
    Then the result should be successful
    And the output should contain "[stderr]"
    And the output should contain "error"

  Scenario: Execute chained commands with &&
    Given an execution context
    When I execute BashTool with command="echo first && echo second"
    Then the result should be successful
    And the output should contain "first"
    And the output should contain "second"

  Scenario: Execute chained commands with failing first
    Given an execution context
    When I execute BashTool with command="exit 1 && echo second"
    Then the result should be failed
    And the output should NOT contain "second"

  Scenario: Execute command with timeout
    Given an execution context
    When I execute BashTool with:
      | command | sleep 1 && echo done |
      | timeout | 5000                 |
    Then the result should be successful
    And the output should contain "done"

  Scenario: Execute command that times out
    Given an execution context
    When I execute BashTool with:
      | command | sleep 10     |
      | timeout | 1000         |
    Then the result should be failed
    And the error should contain "timed out"
    And the error should contain "1000ms"

  Scenario: Execute command with description
    Given an execution context
    When I execute BashTool with:
      | command     | npm install           |
      | description | Install dependencies  |
    Then the result metadata should contain description="Install dependencies"

  Scenario: Execute command with large output
    Given an execution context
    When I execute BashTool with command that produces 50000 characters
    Then the result should be successful
    And the output should be truncated at 30000 characters
    And the output should contain "[Output truncated"
    And metadata should contain truncated=true

  Scenario: Execute command in dry run mode
    Given an execution context with dry_run=true
    When I execute BashTool with command="rm -rf /tmp/test"
    Then the result should be successful
    And the output should contain "[Dry Run]"
    And the command should NOT be executed
