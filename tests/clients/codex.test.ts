import { testClient } from './test-client.ts';

testClient('codex');
