@B1 @B13
Feature: Shell Manager

  Scenario: Create shell
    Given a ShellManager instance
    When I call create_shell("echo test", "/tmp")
    Then a ShellProcess should be returned
    And the shell should have a unique id
    And the shell status should be "running"
    And the shell should be tracked in the manager

  Scenario: Get shell by ID
    Given a ShellManager with a shell "shell_abc123"
    When I call get_shell("shell_abc123")
    Then the correct ShellProcess should be returned

  Scenario: Get non-existent shell
    Given a ShellManager with no shell "shell_xyz"
    When I call get_shell("shell_xyz")
    Then None should be returned

  Scenario: List all shells
    Given a ShellManager with 3 shells
    When I call list_shells()
    Then a list of 3 ShellProcess objects should be returned

  Scenario: List running shells
    Given a ShellManager with 2 running and 1 completed shell
    When I call list_running()
    Then a list of 2 ShellProcess objects should be returned
    And all should have is_running=true

  Scenario: Cleanup completed shells
    Given a ShellManager with shells completed more than 1 hour ago
    When I call cleanup_completed(max_age_seconds=3600)
    Then old completed shells should be removed
    And running shells should be kept
    And recently completed shells should be kept

  Scenario: Kill all shells
    Given a ShellManager with 3 running shells
    When I call kill_all()
    Then all shells should be killed
    And the return value should be 3

  Scenario: ShellManager is singleton
    Given I create ShellManager instance A
    And I create ShellManager instance B
    Then A and B should be the same instance
    And shells created via A should be visible via B

  Scenario: Reset singleton for testing
    Given a ShellManager with running shells
    When I call ShellManager.reset()
    Then all shells should be killed
    And the singleton should be cleared
    And the next ShellManager() should be a fresh instance
