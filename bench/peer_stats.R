# Runs a task on generated data, timed within R; prints {"seconds":...}. Rscript --vanilla
# peer_stats.R TASK N [RESAMPLES]
arguments <- commandArgs(TRUE)
task <- arguments[1]
n <- as.integer(arguments[2])
set.seed(1)
values <- function(shift) round(rlnorm(n, 5, 0.2), 3) + shift
x <- values(0)
y <- values(1)
began <- Sys.time()
result <- switch(task,
  shift = wilcox.test(y, x, conf.int = TRUE)$estimate,
  acf = max(abs(acf(x, lag.max = 30, plot = FALSE)$acf[-1])),
  bootstrap = sd(boot::boot(x, function(d, i) sd(d[i]), R = as.integer(arguments[3]))$t),
  stop("no such task: ", task))
cat(sprintf('{"task":"%s","n":%d,"seconds":%.9f,"result":%.9g}\n', task, n, as.numeric(difftime(Sys.time(), began, units = "secs")), result))
