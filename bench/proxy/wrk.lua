-- Prints the report of wrk as JSON. Arguments: the file with the body, then names and values of headers.
function init(args)
  local file = io.open(args[1], "r")
  wrk.method = "POST"
  wrk.body = file:read("*a")
  file:close()
  for i = 2, #args, 2 do
    wrk.headers[args[i]] = args[i + 1]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\nreport {"requests": %d, "seconds": %f, "errors": %d}\n', summary.requests,
    summary.duration / 1e6, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
