import './bash-world.ts';
import './bash-tool.steps.ts';
import './background-shells.steps.ts';
import './shell-manager.steps.ts';
import './shell-process.steps.ts';
import './tool-registration.steps.ts';
import './integration.steps.ts';
