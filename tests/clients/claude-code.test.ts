import { testClient } from './test-client.ts';

testClient('claude-code');
