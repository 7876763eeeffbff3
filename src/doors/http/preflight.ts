/** Answers a browser that asks whether a page of another origin may call. */
export function preflight(): Response {
  const allowed =
    'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name';
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, POST, DELETE',
      'Access-Control-Allow-Headers': allowed,
      'Access-Control-Max-Age': '600',
    },
  });
}
