import { testClient } from './test-client.ts';

testClient('copilot');
