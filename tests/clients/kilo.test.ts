import { testClient } from './test-client.ts';

testClient('kilo');
