# Spin and catch whatever is thrown.
# outcome: timeout

while True:
    try:
        while True:
            pass
    except BaseException:
        pass
