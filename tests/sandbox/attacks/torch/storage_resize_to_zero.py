# Take the storage away and send the tensor.
# outcome: done|crashed|error

won_not = x.clone()
won_not.untyped_storage().resize_(0)
